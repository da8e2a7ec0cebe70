import { fieldMessage, type Read } from "#shared/schema/problem.ts";
import { Refusal, refuseField } from "#control-plane/http/errors.ts";
import type { MonitorRefusal, Written } from "#control-plane/monitors/refusal.ts";

/** Returns the value of a write; throws its refusal as the error answer of the request. */
export function requireWritten<T>(written: Written<T>): T {
  if (written.ok) return written.value;
  throw toRefusal(written.refusal);
}

function toRefusal({ code, message, field, reason, problems, retryAfterSeconds }: MonitorRefusal): Refusal {
  const isOfField = code === "missing_parameter" && field !== undefined;
  return new Refusal(code, {
    message: isOfField ? fieldMessage({ field, message }) : message,
    ...(problems === undefined ? {} : { problems }),
    ...(field === undefined ? {} : { field }),
    ...(reason === undefined ? {} : { reason }),
    ...(retryAfterSeconds === undefined ? {} : { headers: { "retry-after": String(retryAfterSeconds) } }),
    ...(code === "invalid_api_key" ? { headers: { "www-authenticate": "Bearer" } } : {}),
  });
}

/** Returns the parsed fields of a body; throws the problem of the first wrong one. */
export function requireFields<T>(read: Read<T>): T {
  if (read.ok) return read.value;
  throw refuseField(read.problem);
}
