/** Number of looks, after the first, that must find the same packet unsent. */
const MAX_LOOKS = 2;

/**
 * Creates the check whether a socket has stopped sending. It is called at a regular interval with the start of the oldest
 * unfinished send (null: none). It counts looks instead of reading the clock: between two looks the process has handled
 * what its sockets were ready for, so a process that got no processor time for a while is not taken for a dead socket.
 */
export function createStallCheck(): (pendingSince: number | null) => boolean {
  let seen: number | null = null;
  let looks = 0;
  return (pendingSince) => {
    looks = pendingSince !== null && pendingSince === seen ? looks + 1 : 0;
    seen = pendingSince;
    return looks >= MAX_LOOKS;
  };
}
