import type { TLSSocket } from "node:tls";
import { ocspResponse, REVOCATION, SERIALS, STATUS_URLS } from "#test/lab/services/authority.ts";
import { daysFromNow, type IssueOptions, type Pki } from "#test/servers/pki.ts";
import { startTlsServer, type TlsServer } from "#test/servers/tls.ts";

/** A certificate of the authority's list, and whether its status is stapled. */
interface StatusVariant {
  readonly serial: string;
  readonly isStapled: boolean;
  readonly options: Pick<IssueOptions, "ocspUrls" | "crlUrls" | "caIssuers" | "mustStaple">;
}

const { ocsp, crl, issuer } = STATUS_URLS;
const BOTH = { ocspUrls: [ocsp], crlUrls: [crl], caIssuers: [issuer] };

/** TLS servers whose certificates name the source of their status, by name. */
const VARIANTS: Readonly<Record<string, StatusVariant>> = {
  "status-good": { serial: SERIALS.good, isStapled: false, options: BOTH },
  revoked: { serial: SERIALS.revoked, isStapled: false, options: BOTH },
  "revoked-by-list": { serial: SERIALS.revokedByList, isStapled: false, options: { crlUrls: [crl] } },
  "staple-good": { serial: SERIALS.stapled, isStapled: true, options: BOTH },
  "staple-revoked": { serial: SERIALS.revokedStaple, isStapled: true, options: BOTH },
  "staple-must": { serial: SERIALS.mustStaple, isStapled: true, options: { ...BOTH, mustStaple: true } },
};

/** Reports whether there is a variant of that name. */
export function isStatusVariant(name: string): boolean {
  return name in VARIANTS;
}

/** Starts a variant on port 443 with a certificate for `certified`. `folder` is the authority's. */
export async function startStatusVariant(
  name: string,
  pki: Pki,
  folder: string,
  place: {
    readonly certified: string;
    readonly host: string;
    readonly answerOnce: (socket: TLSSocket) => void;
  },
): Promise<TlsServer> {
  const variant = VARIANTS[name];
  if (variant === undefined) throw new Error(`no variant ${name}`);
  const { serial, isStapled, options } = variant;
  // Older than any revocation.
  const notBefore = daysFromNow(-2 * REVOCATION.daysAgo);
  const leaf = await pki.issue({ dns: [place.certified], serial, notBefore, ...options });
  return startTlsServer({
    chain: [leaf, pki.intermediate],
    ...(isStapled ? { staple: ocspResponse(folder, serial) } : {}),
    host: place.host,
    port: 443,
    onConnection: place.answerOnce,
  });
}
