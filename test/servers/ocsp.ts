import { createHash } from "node:crypto";
import { der, integer, sequence } from "#test/servers/der.ts";
import { startHttpServer, type HttpServer, type SeenRequest } from "#test/servers/http.ts";
import { daysFromNow, type Issued } from "#test/servers/pki.ts";
import {
  extension,
  generalizedTime,
  hashAlgorithm,
  oid,
  parsed,
  publicKeyHash,
  signed,
  type Signing,
  type SigningHash,
} from "#test/servers/signing.ts";

/** What one SingleResponse says; the default is good from an hour ago for a week. */
export interface SingleOptions {
  readonly certificate: Issued;
  readonly issuer: Issued;
  readonly hash?: SigningHash;
  readonly status?: "good" | "unknown" | { readonly at: Date; readonly reason?: number };
  readonly thisUpdate?: Date;
  /** Null leaves it out. */
  readonly nextUpdate?: Date | null;
  /** Encoded ones. */
  readonly extensions?: readonly Uint8Array[];
}

/** How a response is made. */
export interface OcspOptions {
  readonly singles: readonly SingleOptions[];
  /** Identity whose key signs. */
  readonly signer: Issued;
  /** Whom the response names; default the signer. */
  readonly responder?: Issued;
  /** The responder is named by its key instead of its name. */
  readonly byKey?: boolean;
  /** Certificates that come along. */
  readonly certificates?: readonly Issued[];
  readonly signing?: Signing;
  readonly producedAt?: Date;
  /** Encoded ones, of the whole response. */
  readonly extensions?: readonly Uint8Array[];
}

/** Extended key usage OID OCSPSigning. */
export const OCSP_SIGNING = "1.3.6.1.5.5.7.3.9";

/** A response (RFC 6960 section 4.2.1), DER. */
export function ocspResponse(options: OcspOptions): Uint8Array {
  const { signer, responder = signer, singles, producedAt = daysFromNow(-1 / 24), extensions = [] } = options;
  const name =
    options.byKey === true
      ? der(0xa2, der(0x04, publicKeyHash(responder, "sha1")))
      : der(0xa1, parsed(responder).subject);
  const data = sequence(
    name,
    generalizedTime(producedAt),
    sequence(...singles.map(singleResponse)),
    ...(extensions.length === 0 ? [] : [der(0xa1, sequence(...extensions))]),
  );
  const { algorithm, signature } = signed(signer, data, options.signing);
  const certificates = (options.certificates ?? []).map((one) => one.der);
  const basic = sequence(
    data,
    algorithm,
    signature,
    ...(certificates.length === 0 ? [] : [der(0xa0, sequence(...certificates))]),
  );
  const bytes = sequence(oid("1.3.6.1.5.5.7.48.1.1"), der(0x04, basic));
  return sequence(der(0x0a, Uint8Array.of(0)), der(0xa0, bytes));
}

/** A response that is an error alone: 1 malformedRequest, 2 internalError, 3 tryLater, 5 sigRequired, 6 unauthorized. */
export function ocspError(status: number): Uint8Array {
  return sequence(der(0x0a, Uint8Array.of(status)));
}

/** An extension with a list of signed certificate timestamps, in TLS form. */
export function timestampsExtension(list: Uint8Array): Uint8Array {
  return extension("1.3.6.1.4.1.11129.2.4.5", der(0x04, list));
}

function singleResponse(options: SingleOptions): Uint8Array {
  const { certificate, issuer, hash = "sha1", status = "good", extensions = [] } = options;
  const { thisUpdate = daysFromNow(-1 / 24), nextUpdate = daysFromNow(7) } = options;
  const { issuer: issuerName, serialNumber } = parsed(certificate);
  const id = sequence(
    hashAlgorithm(hash),
    der(0x04, createHash(hash).update(issuerName).digest()),
    der(0x04, publicKeyHash(issuer, hash)),
    der(0x02, serialNumber),
  );
  return sequence(
    id,
    statusOf(status),
    generalizedTime(thisUpdate),
    ...(nextUpdate === null ? [] : [der(0xa0, generalizedTime(nextUpdate))]),
    ...(extensions.length === 0 ? [] : [der(0xa1, sequence(...extensions))]),
  );
}

function statusOf(status: NonNullable<SingleOptions["status"]>): Uint8Array {
  if (status === "good") return der(0x80);
  if (status === "unknown") return der(0x82);
  const { at, reason } = status;
  const code = reason === undefined ? [] : [der(0xa0, der(0x0a, integer(reason).subarray(2)))];
  return der(0xa1, generalizedTime(at), ...code);
}

/** What a responder answers a request with; null: HTTP 405. */
export type Answering = (request: Uint8Array, seen: SeenRequest) => Uint8Array | null;

/** A responder over HTTP; requests come by POST or in the path of a GET (RFC 6960 appendix A.1). */
export async function startOcspResponder(answer: Answering): Promise<HttpServer> {
  return startHttpServer({
    handler: (_request, response, seen) => {
      const asked =
        seen.method === "POST"
          ? Buffer.from(seen.body, "latin1")
          : Buffer.from(decodeURIComponent(seen.path.slice(seen.path.lastIndexOf("/") + 1)), "base64");
      const reply = answer(asked, seen);
      if (reply === null) response.writeHead(405).end();
      else response.writeHead(200, { "content-type": "application/ocsp-response" }).end(reply);
      return true;
    },
  });
}
