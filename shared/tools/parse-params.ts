import { parseParams, type Parsed, type ParseOptions } from "#shared/schema/schema.ts";
import type { Contract } from "#shared/tools/define.ts";

/** Parameters of one call with defaults filled in. */
type ToolParams = Readonly<Record<string, unknown>>;

/**
 * Reads the parameters of a tool's call: first each by the contract's schema, then all by the contract's rules between
 * parameters. The first problem names the parameter.
 */
export function parseToolParams(
  contract: Contract,
  raw: Readonly<Record<string, unknown>>,
  options: ParseOptions,
): Parsed<ToolParams> {
  const parsed = parseParams(contract.params, raw, options);
  if (!parsed.ok) return parsed;
  const problem = contract.refine?.(parsed.value) ?? null;
  return problem === null ? { ok: true, value: parsed.value } : { ok: false, problem };
}
