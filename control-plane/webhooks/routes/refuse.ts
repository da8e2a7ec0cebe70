import { Refusal, refuseField } from "#control-plane/http/errors.ts";
import type { Written } from "#control-plane/webhooks/refusal.ts";

/** Returns the value of a write; throws its refusal as the error answer of the request. */
export function requireWritten<T>(written: Written<T>): T {
  if (written.ok) return written.value;
  const { refusal } = written;
  if (refusal.code === "missing_parameter") throw refuseField(refusal.problem);
  const { code, message, field } = refusal;
  throw new Refusal(code, { message, ...(field === undefined ? {} : { field }) });
}
