import { isRecord } from "#shared/text/is-record.ts";
import type { Contract } from "#shared/tools/define.ts";

/**
 * Returns a result with the target URL as the caller wrote it. Agents get a complete URL (shared/internet/target-url.ts), and one
 * cached result serves every spelling. Results of tools without a URL target are returned unchanged.
 */
export function asSubmitted({ target }: Contract, params: Readonly<Record<string, unknown>>, data: unknown): unknown {
  if (target?.kind !== "url" || !isRecord(data)) return data;
  const field = target.echo ?? target.param;
  return Object.hasOwn(data, field) ? { ...data, [field]: params[target.param] } : data;
}
