// Who may register at this server, as its page says: everybody, who was invited, or nobody.

export const registrationMode = (): string => document.querySelector<HTMLMetaElement>('meta[name="registration"]')?.content ?? 'OPEN';
