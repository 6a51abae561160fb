// What every part does at its beginning: it tells on one line where it listens, and ends with whoever started it.

/** Prints what whoever started the part is to know of it, such as its ports. */
export function tell(known) {
  console.log(JSON.stringify(known));
}

/** A server on a free port of this machine alone; gives the port. */
export function listen(server) {
  return new Promise((listening) => server.listen(0, '127.0.0.1', () => listening(server.address().port)));
}

// The other end of this pipe closes when the tests end, however they do.
process.stdin.resume();
process.stdin.on('end', () => process.exit(0));
