// The microphones, cameras and speakers of this computer, and which of them the reader chose. Browsers name them once
// access to one was given.

export type DeviceKind = 'microphone' | 'camera' | 'speaker';
export type DeviceFault = 'refused' | 'missing' | 'busy' | 'failed';

const KINDS: Record<MediaDeviceKind, DeviceKind> = { audioinput: 'microphone', videoinput: 'camera', audiooutput: 'speaker' };
const STORAGE_KEY = 'colloquy.devices';

export class Devices {
  available = $state.raw<Record<DeviceKind, MediaDeviceInfo[]>>({ microphone: [], camera: [], speaker: [] });
  chosen = $state.raw<Partial<Record<DeviceKind, string>>>({});

  constructor() {
    try {
      this.chosen = JSON.parse(localStorage.getItem(STORAGE_KEY) ?? '{}') as typeof this.chosen;
    } catch {
      // Storage is off: the default devices.
    }
    navigator.mediaDevices?.addEventListener('devicechange', () => void this.list());
  }

  async list(): Promise<void> {
    const found = await navigator.mediaDevices?.enumerateDevices().catch(() => []);
    const available: typeof this.available = { microphone: [], camera: [], speaker: [] };
    // Without access they come without ids and names.
    for (const device of found ?? []) if (device.deviceId) available[KINDS[device.kind]].push(device);
    this.available = available;
  }

  choose(kind: DeviceKind, id: string): void {
    this.chosen = { ...this.chosen, [kind]: id };
    try {
      localStorage.setItem(STORAGE_KEY, JSON.stringify(this.chosen));
    } catch {
      // Storage is off: for this page alone.
    }
  }

  /** The chosen device, if it is connected; else the browser's default. */
  constraints(kind: 'microphone' | 'camera'): { deviceId?: ConstrainDOMString } {
    const id = this.chosen[kind];
    return id ? { deviceId: { ideal: id } } : {};
  }

  /** Opens the chosen microphone or camera. */
  async open(kind: 'microphone' | 'camera'): Promise<MediaStreamTrack> {
    const wanted = this.constraints(kind);
    const stream = await navigator.mediaDevices.getUserMedia(kind === 'microphone' ? { audio: wanted } : { video: wanted });
    void this.list();
    const [track] = stream.getTracks();
    if (!track) throw new DOMException('No track.', 'NotFoundError');
    return track;
  }
}

export const devices = new Devices();

/** Why a device could not be had, as the browser names it. */
export function deviceFault(error: unknown): DeviceFault {
  const name = error instanceof Error || error instanceof DOMException ? error.name : '';
  if (name === 'NotAllowedError' || name === 'SecurityError') return 'refused';
  if (name === 'NotFoundError' || name === 'OverconstrainedError') return 'missing';
  if (name === 'NotReadableError' || name === 'AbortError') return 'busy';
  return 'failed';
}
