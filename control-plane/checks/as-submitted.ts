import { isRecord } from "#shared/is-record.ts";
import type { Contract } from "#shared/tools/define.ts";

/**
 * A result with the URL it was asked for as the caller wrote it. Agents get it complete (shared/target-url.ts), and one
 * result serves every spelling of a URL. Anything but a result of a URL's check comes back as it is.
 */
export function asSubmitted({ target }: Contract, params: Readonly<Record<string, unknown>>, data: unknown): unknown {
  if (target?.kind !== "url" || !isRecord(data)) return data;
  const field = target.echo ?? target.param;
  return Object.hasOwn(data, field) ? { ...data, [field]: params[target.param] } : data;
}
