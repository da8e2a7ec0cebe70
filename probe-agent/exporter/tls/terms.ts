import { constants, createHash } from "node:crypto";
import { createSecureContext, getCACertificates, type SecureContext } from "node:tls";
import { describeError } from "#shared/contracts/error-code.ts";
import { toDer } from "#probe-agent/analysis/tls/certificate/parse.ts";
import type { Secret, TlsOptions, TlsVersion } from "#shared/blackbox/module.ts";
import { readSecret } from "#probe-agent/exporter/read-secret.ts";

/** What is offered to a server and whom to trust. */
interface TlsTerms {
  readonly secureContext: SecureContext;
  /** PEM texts of the certificates to trust; the same array for the same certificates. */
  readonly roots: readonly string[];
}

/** Names that Node has for the versions of the file. */
const VERSIONS = { TLS10: "TLSv1", TLS11: "TLSv1.1", TLS12: "TLSv1.2", TLS13: "TLSv1.3" } as const satisfies Record<
  TlsVersion,
  string
>;

/**
 * The suites that clients of Go 1.19 offer, without 3DES, which OpenSSL no longer has. Level 0 is needed for TLS 1.0 and
 * 1.1, which a module can allow. It lets keys and hashes of certificates through, of which Go refuses MD5 and SHA-1:
 * lastExpiry does so here.
 */
const SUITES = [
  "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256",
  "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384",
  "ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305",
  "ECDHE-ECDSA-AES128-SHA:ECDHE-RSA-AES128-SHA:ECDHE-ECDSA-AES256-SHA:ECDHE-RSA-AES256-SHA",
  "AES128-GCM-SHA256:AES256-GCM-SHA384:AES128-SHA:AES256-SHA:@SECLEVEL=0",
].join(":");

/** Maximum number of terms that are kept. A file of modules has a few different ones. */
const MOST_KEPT = 64;
const kept = new Map<string, TlsTerms>();

/**
 * Reads the certificates and keys of a module and creates its terms, or returns what is wrong with them. Terms are kept
 * by their content, because parsing the roots of a system takes longer than a handshake. `roots` null: the system's.
 */
export async function readTerms(
  options: TlsOptions,
  roots: readonly string[] | null,
): Promise<TlsTerms | { readonly fault: string }> {
  if ((options.cert === null) !== (options.key === null)) {
    return { fault: "a client certificate and its key must be given together" };
  }
  const ca = await readOptional(options.ca);
  const cert = await readOptional(options.cert);
  const key = await readOptional(options.key);
  for (const read of [ca, cert, key]) if (typeof read === "object" && read !== null) return read;
  const parts = [ca, cert, key, options.min_version, options.max_version, ca === null && roots ? digestOf(roots) : ""];
  const name = hash(JSON.stringify(parts));
  const known = kept.get(name);
  if (known !== undefined) return known;
  const trusted = typeof ca === "string" ? pemBlocks(ca) : (roots ?? systemRoots());
  if (trusted.length === 0) return { fault: "unable to use specified CA cert: it has no certificate in PEM" };
  try {
    const secureContext = createSecureContext({
      ca: [...trusted],
      ...(typeof cert === "string" ? { cert } : {}),
      ...(typeof key === "string" ? { key } : {}),
      minVersion: VERSIONS[options.min_version ?? "TLS12"],
      maxVersion: VERSIONS[options.max_version ?? "TLS13"],
      ciphers: SUITES,
      ecdhCurve: "X25519:P-256:P-384:P-521",
      secureOptions: constants.SSL_OP_LEGACY_SERVER_CONNECT,
      // In Go every certificate of the pool is an anchor, also one of an intermediate authority or of the server.
      allowPartialTrustChain: true,
    });
    const terms = { secureContext, roots: trusted };
    const [oldest] = kept.size >= MOST_KEPT ? kept.keys() : [];
    if (oldest !== undefined) kept.delete(oldest);
    kept.set(name, terms);
    return terms;
  } catch (error) {
    return { fault: `unable to use the certificates or the key: ${describeError(error)}` };
  }
}

const digests = new WeakMap<readonly string[], string>();

/** Returns a name of a list, which is computed once: the list of an operator has hundreds of kilobytes. */
function digestOf(roots: readonly string[]): string {
  const known = digests.get(roots) ?? hash(roots.join(""));
  digests.set(roots, known);
  return known;
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("base64");
}

async function readOptional(secret: Secret | null): Promise<string | null | { readonly fault: string }> {
  if (secret === null) return null;
  const read = await readSecret(secret);
  return "text" in read ? read.text : read;
}

/** Returns each certificate of a PEM text alone, because OpenSSL stops at other text between them. */
function pemBlocks(text: string): readonly string[] {
  return toDer(text).map((der) => {
    const base64 = Buffer.from(der)
      .toString("base64")
      .replaceAll(/.{64}(?=.)/g, "$&\n");
    return `-----BEGIN CERTIFICATE-----\n${base64}\n-----END CERTIFICATE-----\n`;
  });
}

let ofSystem: readonly string[] | undefined;

/**
 * Returns the certificates that the system trusts, as Go does: SSL_CERT_FILE and SSL_CERT_DIR hold. Joined with Node's
 * own, because an image can have no store. Read once.
 */
function systemRoots(): readonly string[] {
  ofSystem ??= [...new Set([...getCACertificates("system"), ...getCACertificates("default")])];
  return ofSystem;
}
