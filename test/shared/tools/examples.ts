import { exampleOf } from "#control-plane/surfaces/api-document/components.ts";
import { present } from "#shared/tools/present.ts";
import type { Presentation } from "#shared/presentation/presentation.ts";
import type { Contract, ResultOf } from "#shared/tools/define.ts";

/** The time that dates of recorded examples are compared with. */
export const NOW = new Date("2026-11-27T12:00:00Z");

/** Presents the recorded example of a tool, with some fields changed. */
export function presentExample<C extends Contract>(
  contract: C,
  change: (data: ResultOf<C>) => object = () => ({}),
): Presentation {
  const data = exampleOf(contract.name)?.data;
  if (data === undefined) throw new Error(`no example of ${contract.name} is recorded`);
  return present(contract, { ...data, ...change(data as ResultOf<C>) }, NOW);
}

/** Returns the value of a fact with its unit; null if it is not shown. */
export function factOf({ facts }: Presentation, label: string): string | null {
  const found = facts.find((fact) => fact.label === label);
  return found === undefined ? null : existing([found.value, found.unit]).join(" ");
}

function existing(texts: readonly (string | undefined)[]): readonly string[] {
  return texts.flatMap((text) => text ?? []);
}
