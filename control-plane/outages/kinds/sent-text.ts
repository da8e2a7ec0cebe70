import { Type } from "typebox";
import { Lines, Nullable } from "#shared/tools/fields.ts";
import { MASK } from "#control-plane/outages/kinds/mask.ts";
import { refuse, type Read } from "#shared/schema/problem.ts";
import type { asked } from "#control-plane/outages/kinds/form-field.ts";

/** Options with texts that are sent to the server. */
type WithSent<F extends string> = { readonly [Field in F]: string | null };

/** Options of the schema of a text. */
interface TextOptions extends ReturnType<typeof asked> {
  readonly description: string;
  readonly maxLength?: number;
}

/** Schema of the text; `description` says when it is sent. */
export const sentSchema = ({ description, ...options }: TextOptions) =>
  Type.Optional(
    Nullable(
      Lines({
        minLength: 1,
        maxLength: 8_192,
        ...options,
        description: `${description} A secret: responses show a mask. Default: null, nothing`,
      }),
    ),
  );

/** Schema of the text that must arrive. */
export const expectedSchema = (options: TextOptions) =>
  Type.Optional(Nullable(Lines({ minLength: 1, maxLength: 1_000, ...options })));

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
