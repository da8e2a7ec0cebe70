import { childrenOf, readDer, sequenceOf, type Der } from "#probe-agent/analysis/tls/certificate/der.ts";
import { generalName } from "#probe-agent/analysis/tls/certificate/extensions.ts";

/** What a list is about, by its issuing distribution point (RFC 5280 section 5.2.5). */
export interface DistributionScope {
  /** URIs the list is found at, as certificates name them; null where it is not bound to any. */
  readonly names: readonly string[] | null;
  readonly onlyUsers: boolean;
  readonly onlyAuthorities: boolean;
  readonly attributeCertificates: boolean;
  /** It leaves out what was revoked for other reasons. */
  readonly someReasons: boolean;
  /** It has entries of other issuers too. */
  readonly indirect: boolean;
}

/** Reads the extension; throws MalformedDer. */
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

/** Full names; one relative to the issuer fits no URI. */
function namesOf(point: Der | undefined): string[] | null {
  if (point === undefined) return null;
  const { tag, contents } = readDer(point.contents);
  if (tag !== 0xa0) return [];
  return childrenOf(contents)
    .map(generalName)
    .flatMap((name) => (name.kind === "uri" ? [Buffer.from(name.contents).toString("latin1")] : []));
}
