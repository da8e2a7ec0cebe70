import { secretValues } from "#shared/text/redact.ts";
import type { MonitorSecrets } from "#control-plane/outages/kinds/common.ts";
import { CHECK_TYPES, kindOf, type CheckType, type KindOptions } from "#control-plane/outages/kinds/kinds.ts";
import { MASK } from "#control-plane/outages/kinds/mask.ts";
import type { Encryption } from "#control-plane/core/secrets/encryption.ts";

const PURPOSE = "monitors.secrets";
const NONE: MonitorSecrets = { request_headers: {}, body: null };

/** Encrypts the secrets of a monitor; null if it has none. */
export function sealSecrets(encryption: Encryption, { request_headers, body }: MonitorSecrets): Uint8Array | null {
  if (body === null && Object.keys(request_headers).length === 0) return null;
  return encryption.seal(Buffer.from(JSON.stringify({ request_headers, body })), PURPOSE);
}

/** Decrypts the secrets of a monitor. Throws if they were altered, or sealed with another master key: a broken row. */
export function openSecrets(encryption: Encryption, sealed: Uint8Array | null): MonitorSecrets {
  if (sealed === null) return NONE;
  const opened = encryption.open(sealed, PURPOSE);
  if (opened === null) throw new Error("the stored request headers of a monitor cannot be decrypted");
  return JSON.parse(Buffer.from(opened).toString("utf8")) as MonitorSecrets;
}

/** Returns secrets as responses show them: names of header fields, and masks. */
export function maskSecrets({ request_headers, body }: MonitorSecrets): MonitorSecrets {
  return {
    request_headers: Object.fromEntries(Object.keys(request_headers).map((name) => [name, MASK])),
    body: body === null ? null : MASK,
  };
}

/** Returns the texts of a monitor that nobody may read: those of its check and of what its target repeats. */
export function secretTexts(checkType: CheckType, { request_headers, body }: MonitorSecrets): readonly string[] {
  const fields = Object.entries(request_headers);
  const own = secretPlacesOf(checkType).includes(HEADERS) ? secretValues(fields) : fields.map(([, value]) => value);
  return [...own, ...(body === null ? [] : [body])];
}

type Values = Readonly<Record<string, string>>;
type Fields = Readonly<Record<string, unknown>>;

/** Where a monitor has secret values by name: in request_headers, or in a field of its kind's own options. */
export interface SecretPlace {
  /** The kind, whose name that of its options is; null if it is a field of the monitor itself. */
  readonly kind: CheckType | null;
  readonly field: string;
  /** Whether the field is one text, whose name is that of the field, instead of values by name. */
  readonly isText: boolean;
  /** Dotted name with a dot at its end: that of a value follows. */
  readonly prefix: string;
}

const HEADERS: SecretPlace = { kind: null, field: "request_headers", isText: false, prefix: "request_headers." };

/** Returns where monitors of a type have their secret values: in their own options, in request_headers, or in both. */
export function secretPlacesOf(checkType: CheckType): readonly SecretPlace[] {
  const { fields, options } = kindOf(checkType);
  const { secretField = null, secretTexts: texts = [] } = options ?? {};
  const own = texts.map((field) => ({ kind: checkType, field, isText: true, prefix: `${checkType}.` }));
  if (secretField !== null) {
    own.push({ kind: checkType, field: secretField, isText: false, prefix: `${checkType}.${secretField}.` });
  }
  const hasHeaders = own.length === 0 || (fields as readonly string[]).includes(HEADERS.field);
  return hasHeaders ? [...own, HEADERS] : own;
}

/** The places of all kinds. */
export const SECRET_PLACES: readonly SecretPlace[] = [...new Set(CHECK_TYPES.flatMap(secretPlacesOf))];

/** Returns the place of a value by the name under which it is stored: that of a text is its field. */
function placeOf(checkType: CheckType, name: string): SecretPlace {
  const places = secretPlacesOf(checkType);
  return places.find(({ isText, field }) => !isText || field === name) ?? HEADERS;
}

/** Returns the dotted name of a stored value, such as `request_headers.Authorization`. */
export function secretNameOf(checkType: CheckType, name: string): string {
  return placeOf(checkType, name).prefix + name;
}

/** Returns the secret values in a place of a monitor, or of fields of one; undefined: it says nothing of them. */
export function valuesAt(source: object, { kind, field, isText }: SecretPlace): Values | undefined {
  const owner = kind === null ? (source as Fields) : ((source as Fields)[kind] as Fields | null | undefined);
  if (!isText) return owner?.[field] as Values | undefined;
  const text = owner?.[field] as string | null | undefined;
  return text === undefined ? undefined : text === null ? {} : { [field]: text };
}

/** Returns a monitor, or fields of one, with other secret values in a place. */
export function withValues<T extends object>(source: T, { kind, field, isText }: SecretPlace, values: Values): T {
  if (kind === null) return { ...source, [field]: values };
  const value = isText ? (values[field] ?? null) : values;
  return { ...source, [kind]: { ...((source as Fields)[kind] as object | null), [field]: value } };
}

/** Returns a monitor of a type with these stored values in their places, and no others. */
export function withSecrets<T extends object>(source: T, checkType: CheckType, values: Values): T {
  const entries = Object.entries(values);
  const isIn = (name: string, { kind, field }: SecretPlace) => {
    const place = placeOf(checkType, name);
    return place.kind === kind && place.field === field;
  };
  const at = (place: SecretPlace) => entries.filter(([name]) => isIn(name, place));
  return secretPlacesOf(checkType).reduce(
    (one, place) => withValues(one, place, Object.fromEntries(at(place))),
    source,
  );
}

/** Returns the secrets of a monitor as its user wrote it. */
export function secretsOf(draft: KindOptions & MonitorSecrets & { readonly check_type: CheckType }): MonitorSecrets {
  const values = secretPlacesOf(draft.check_type).flatMap((place) => Object.entries(valuesAt(draft, place) ?? {}));
  return { request_headers: Object.fromEntries(values), body: draft.body };
}
