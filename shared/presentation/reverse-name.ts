import { fact } from "#shared/presentation/build.ts";
import type { Fact } from "#shared/presentation/presentation.ts";

/** A reverse name of an address as results have it. */
interface ReverseName {
  /** Null or empty if there is none, or if it is not known. */
  readonly name: string | null;
  /** Whether there is one; null if the lookup failed. */
  readonly exists: boolean | null;
  /** Whether it resolves to the address; null if that is not known. */
  readonly leadsBack: boolean | null;
}

/** Says the reverse name of an address and whether it is confirmed. Null if the lookup failed. */
export function reverseNameFact({ name, exists, leadsBack }: ReverseName): Fact | null {
  if (name === null || name === "") return exists === false ? fact("Reverse name", "none") : null;
  const note = leadsBack === null ? "" : leadsBack ? " (confirmed)" : " (does not lead back to the address)";
  return fact("Reverse name", name + note, { tone: leadsBack === false ? "warning" : null });
}
