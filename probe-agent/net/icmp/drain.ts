const MOST_ROUNDS = 20_000;

/**
 * Calls back after the socket has nothing left to read. `received` returns how many packets it has read. One packet is
 * read per turn of the event loop, so after two turns without a packet none is left.
 */
export function drain(received: () => number, then: () => void): void {
  let seen = received();
  let quiet = 0;
  let rounds = 0;
  const check = (): void => {
    quiet = received() === seen ? quiet + 1 : 0;
    seen = received();
    rounds += 1;
    if (quiet >= 2 || rounds >= MOST_ROUNDS) then();
    else setImmediate(check);
  };
  setImmediate(check);
}
