import { childrenOf, readDer, sequenceOf, type Der } from "#probe-agent/analysis/tls/certificate/der.ts";
import { generalName } from "#probe-agent/analysis/tls/certificate/extensions.ts";

/** Scope of a list, from its issuing distribution point extension (RFC 5280 section 5.2.5). */
export interface DistributionScope {
  /** URIs of the list, as certificates name them; null if the list is not limited to distribution points. */
  readonly names: readonly string[] | null;
  readonly onlyUsers: boolean;
  readonly onlyAuthorities: boolean;
  readonly attributeCertificates: boolean;
  /** Whether the list omits certificates that were revoked for other reasons. */
  readonly someReasons: boolean;
  /** Whether the list also has entries of other issuers. */
  readonly indirect: boolean;
}

/** Parses the extension. Throws MalformedDer. */
export function readDistributionScope(value: Uint8Array): DistributionScope {
  const fields = new Map(sequenceOf(value).map((field) => [field.tag, field]));
  const isSet = (tag: number): boolean => (fields.get(tag)?.contents[0] ?? 0) !== 0;
  return {
    names: namesOf(fields.get(0xa0)),
    onlyUsers: isSet(0x81),
    onlyAuthorities: isSet(0x82),
    someReasons: fields.has(0x83),
    indirect: isSet(0x84),
    attributeCertificates: isSet(0x85),
  };
}

/** Returns the URIs among the full names. A name relative to the issuer matches no URI, so the result is empty. */
function namesOf(point: Der | undefined): string[] | null {
  if (point === undefined) return null;
  const { tag, contents } = readDer(point.contents);
  if (tag !== 0xa0) return [];
  return childrenOf(contents)
    .map(generalName)
    .flatMap((name) => (name.kind === "uri" ? [Buffer.from(name.contents).toString("latin1")] : []));
}
