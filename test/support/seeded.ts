/** Creates octets in an order that is the same in every run (Lehmer's generator). */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state & 0xff;
  };
}
