/** The moment this many milliseconds before now. */
export const ago = (ms: number): Date => new Date(Date.now() - ms);
