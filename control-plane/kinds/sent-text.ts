import { Type } from "typebox";
import { Lines, Nullable } from "#shared/tools/fields.ts";
import type { MonitorSecrets } from "#control-plane/kinds/common.ts";
import { MASK } from "#control-plane/kinds/mask.ts";
import { refuse, type Read } from "#shared/schema/problem.ts";

/** Options with a text that is sent to the server. */
interface WithSent {
  readonly send: string | null;
}

/** Schema of the text; `description` says when it is sent. */
export const sentSchema = (description: string) =>
  Type.Optional(
    Nullable(
      Lines({
        minLength: 1,
        maxLength: 8_192,
        description: `${description} A secret: responses show a mask. Default: null, nothing`,
      }),
    ),
  );

/** Schema of the text that must arrive. */
export const expectedSchema = (description: string) =>
  Type.Optional(Nullable(Lines({ minLength: 1, maxLength: 1_000, description })));

/**
 * Applies given parts to the present ones; null restores the defaults. A masked text keeps the stored one. `field` is the
 * dotted name of the text.
 */
export function mergeWithSent<O extends WithSent>(
  given: Partial<O> | null,
  present: O | null,
  defaults: O,
  field: string,
): Read<O> {
  if (given === null) return { ok: true, value: defaults };
  const base = present ?? defaults;
  const merged = { ...base, ...given };
  if (given.send !== MASK) return { ok: true, value: merged };
  if (base.send !== null) return { ok: true, value: { ...merged, send: base.send } };
  return refuse(field, "type", `${MASK} is what responses show in place of a secret; give the text itself`);
}

/** Returns the text that is sent to the server, which is stored with the secrets of its monitor. */
export function sentText({ request_headers: values }: MonitorSecrets): { readonly send: string | null } {
  return { send: values["send"] ?? null };
}
