/** A fact that could not be determined, and the reason. Its check is left out of a score. */
export interface Unknown {
  readonly known: false;
  readonly why: string;
}

/** Returns an unknown fact with the reason. */
export function unknown(why: string): Unknown {
  return { known: false, why };
}
