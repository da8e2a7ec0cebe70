/** Shown in place of a secret. A change that contains it keeps the stored secret. */
export const MASK = "****";
