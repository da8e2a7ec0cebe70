import { Type } from "typebox";
import { Lines, Nullable } from "#shared/tools/fields.ts";
import { MASK } from "#control-plane/outages/kinds/mask.ts";
import { refuse, type Read } from "#shared/schema/problem.ts";

/** Options with texts that are sent to the server. */
type WithSent<F extends string> = { readonly [Field in F]: string | null };

/** Schema of the text; `description` says when it is sent. */
export const sentSchema = (description: string, maxLength = 8_192) =>
  Type.Optional(
    Nullable(
      Lines({
        minLength: 1,
        maxLength,
        description: `${description} A secret: responses show a mask. Default: null, nothing`,
      }),
    ),
  );

/** Schema of the text that must arrive. */
export const expectedSchema = (description: string) =>
  Type.Optional(Nullable(Lines({ minLength: 1, maxLength: 1_000, description })));

/**
 * Applies given parts to the present ones; null restores the defaults. A masked text keeps the stored one; `fields` are
 * the texts of the object of this name.
 */
export function mergeWithSent<F extends string, O extends WithSent<F>>(
  given: Partial<O> | null,
  present: O | null,
  defaults: O,
  name: string,
  fields: readonly F[],
): Read<O> {
  if (given === null) return { ok: true, value: defaults };
  const base = present ?? defaults;
  const masked = fields.filter((field) => given[field] === MASK);
  const unknown = masked.find((field) => (base[field] ?? null) === null);
  if (unknown !== undefined) {
    const message = `${MASK} is what responses show in place of a secret; give the text itself`;
    return refuse(`${name}.${unknown}`, "type", message);
  }
  const kept = Object.fromEntries(masked.map((field) => [field, base[field]]));
  return { ok: true, value: { ...base, ...given, ...kept } };
}
