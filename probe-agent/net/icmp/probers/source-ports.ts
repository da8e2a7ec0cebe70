// Below Linux's ephemeral range, so the kernel does not assign these ports to other connections of this host.
const FIRST_SOURCE_PORT = 20_000;
const SOURCE_PORTS = 12_000;

/**
 * Returns the first of `count` consecutive source ports from 20,000 to 31,999 of which none is taken; null if there are
 * none. The search begins at a port that `random` decides, an integer from 0. Two traces with one port would each
 * receive only a part of the answers.
 */
export function findFreePorts(isTaken: (port: number) => boolean, random: number, count: number): number | null {
  const starts = SOURCE_PORTS - count + 1;
  for (let step = 0; step < starts; step += 1) {
    const first = FIRST_SOURCE_PORT + ((random + step) % starts);
    if (Array.from({ length: count }, (_, flow) => first + flow).every((port) => !isTaken(port))) return first;
  }
  return null;
}
