/** What could not be found out, and why; the check it is for is left out of a score. */
export interface Unknown {
  readonly known: false;
  readonly why: string;
}

/** Says why something is not known. */
export function unknown(why: string): Unknown {
  return { known: false, why };
}
