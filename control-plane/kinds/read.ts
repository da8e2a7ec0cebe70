import type { FieldProblem } from "#shared/schema/problem.ts";

/** A value that was read, or the first problem with it. */
export type Read<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: FieldProblem };

/** Returns the problem of a field as a result. */
export function refuse(field: string, reason: FieldProblem["reason"], message: string): Read<never> {
  return { ok: false, problem: { field, reason, message } };
}
