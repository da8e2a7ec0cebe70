import { createHash } from "node:crypto";
import { isIP, type Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { describeError } from "#shared/contracts/error-code.ts";
import { verifyChain } from "#probe-agent/analysis/tls/certificate.ts";
import { readable } from "#probe-agent/analysis/tls/certificate/der.ts";
import { subjectAltNames } from "#probe-agent/analysis/tls/certificate/extensions.ts";
import { parseCertificate, type Certificate } from "#probe-agent/analysis/tls/certificate/parse.ts";
import { goName } from "#probe-agent/exporter/tls/distinguished-name.ts";
import { family, type Labels, type Samples } from "#probe-agent/exporter/samples.ts";
import type { TlsOptions } from "#shared/blackbox/module.ts";
import type { Probe, ProberContext } from "#probe-agent/exporter/probe.ts";
import { lastExpiry } from "#probe-agent/exporter/tls/chains.ts";
import { isForHost } from "#probe-agent/exporter/tls/hostname.ts";
import { readTerms } from "#probe-agent/exporter/tls/terms.ts";
import { DeadlineError } from "#probe-agent/net/http/failure.ts";
import { readFlight } from "#probe-agent/net/tls/flight.ts";
import { openSession } from "#probe-agent/net/tls/session.ts";

/** What the metrics of TLS say. Times are in seconds since 1970. */
export interface TlsFacts {
  /** As Node names it, e.g. TLSv1.3. */
  readonly protocol: string;
  /** Protocol chosen by ALPN; null: none. */
  readonly alpn: string | null;
  /** Earliest end of a certificate that the server sent. */
  readonly earliestExpiry: number;
  /** Latest end of a verified chain, each of which ends with its first certificate; null if nothing was verified. */
  readonly lastChainExpiry: number | null;
  /** Labels of probe_ssl_last_chain_info. */
  readonly leaf: Labels;
}

/** A connection under TLS and its facts. */
interface SecuredConnection {
  /** Destroyed when the probe ends. When it closes, the connection below it is destroyed. */
  readonly socket: TLSSocket;
  readonly facts: TlsFacts;
}

/** Go's zero time, January 1 of year 1, in seconds: what the exporter shows for a time that it does not know. */
const NEVER = -62_135_596_800;

/** What to say to a server. `serverName` is that of the target, where the options have none. */
interface Offer {
  readonly options: TlsOptions;
  readonly serverName: string;
  readonly alpn: readonly string[];
}

/**
 * Makes one handshake on a connected socket that has no other reader, or destroys the socket and returns why it failed.
 * Verifies the chain and the name unless the options say otherwise.
 */
export async function secureConnection(
  socket: Socket,
  { options, serverName, alpn }: Offer,
  probe: Probe,
  context: ProberContext,
): Promise<SecuredConnection | { readonly fault: string }> {
  const terms = await readTerms(options, context.roots);
  if ("fault" in terms) {
    socket.destroy();
    return terms;
  }
  const name = options.server_name === "" ? serverName : options.server_name;
  const request = { servername: sniOf(name), ...(alpn.length === 0 ? {} : { alpn }) };
  const limits = { signal: probe.signal, monotonic: () => context.clock.monotonic(), waitsForRefusal: () => false };
  const verified = !options.insecure_skip_verify;
  const { session, socket: secured } = await openSession(socket, request, limits, {
    secureContext: terms.secureContext,
    // The verdict is read below: OpenSSL stops at the first chain that it builds.
    rejectUnauthorized: false,
    requestOCSP: true,
    checkServerIdentity: () => undefined,
  });
  const fail = (fault: string): { readonly fault: string } => {
    secured.destroy();
    socket.destroy();
    return { fault };
  };
  if (session.agreed === null || session.error !== null) {
    if (session.aborted) return fail("i/o timeout");
    return fail(session.error === null ? "EOF" : describeFault(session.error));
  }
  const { certificates } = readFlight(session.received, session.secret);
  const sent = certificates.map((der) => parseCertificate(der)).filter((certificate) => certificate !== null);
  // As in Go: what a certificate says is not guessed.
  if (sent.length !== certificates.length) return fail("tls: failed to parse certificate from server");
  const end = verified ? verify(secured, sent, { roots: terms.roots, name, now: context.clock.now() }) : null;
  if (typeof end === "string") return fail(end);
  endWith(probe, secured, socket);
  const expiries = sent.map(({ notAfter }) => notAfter.getTime() / 1000);
  const facts = {
    protocol: session.agreed.protocol,
    alpn: session.agreed.alpn,
    earliestExpiry: expiries.length === 0 ? NEVER : Math.min(...expiries),
    lastChainExpiry: end === null ? null : end / 1000,
    leaf: labelsOf(sent[0]),
  };
  return { socket: secured, facts };
}

/** Returns the name to send (RFC 6066 section 3), which has no final dot; null for an address. */
function sniOf(name: string): string | null {
  return name === "" || isIP(name.replace(/^\[(.*)\]$/, "$1")) !== 0 ? null : name.replace(/\.$/, "");
}

/**
 * Returns when the last chain to a root ends, in milliseconds, or why there is none for this name. As Go, it tries
 * further chains where OpenSSL's is not trusted, e.g. of an intermediate that an unknown authority has signed too.
 */
function verify(
  { authorizationError }: TLSSocket,
  sent: readonly Certificate[],
  { roots, name, now }: { readonly roots: readonly string[]; readonly name: string; readonly now: Date },
): number | string {
  const [leaf, ...others] = sent;
  const end = lastExpiry(sent, roots, now);
  const verdict = String(authorizationError ?? "");
  if (leaf === undefined || end === null) return `x509: certificate signed by unknown authority: ${verdict}`;
  if (verdict !== "") {
    const chain = { leaf: leaf.der, intermediates: others.map(({ der }) => der), roots, host: name, now };
    if (!verifyChain(chain).trusted) return `x509: ${verdict}`;
  }
  return isForHost(leaf, name) ? end : `x509: certificate is not valid for ${name}`;
}

function describeFault(error: NodeJS.ErrnoException): string {
  return error.code === undefined ? error.message : `${describeError(error)}: ${error.message}`;
}

/** Ends both connections together, and at the deadline with an error, which readers of the inner one wait for. */
function endWith(probe: Probe, secured: TLSSocket, socket: Socket): void {
  const end = (): void => void secured.destroy(new DeadlineError());
  probe.signal.addEventListener("abort", end, { once: true });
  secured.once("close", () => {
    probe.signal.removeEventListener("abort", end);
    socket.destroy();
  });
  if (probe.signal.aborted) end();
}

function labelsOf(leaf: Certificate | undefined): Labels {
  const names = leaf === undefined ? [] : readable(() => subjectAltNames(leaf) ?? [], []);
  const dns = names.flatMap(({ kind, contents }) => (kind === "dns" ? [Buffer.from(contents).toString("latin1")] : []));
  return {
    fingerprint_sha256: leaf === undefined ? "" : createHash("sha256").update(leaf.der).digest("hex"),
    issuer: leaf === undefined ? "" : goName(leaf.issuer),
    subject: leaf === undefined ? "" : goName(leaf.subject),
    subjectalternative: dns.join(","),
  };
}

// The first help text is that of the exporter.
const EARLIEST = family("probe_ssl_earliest_cert_expiry", "Returns last SSL chain expiry in unixtime");
const LAST_CHAIN = family(
  "probe_ssl_last_chain_expiry_timestamp_seconds",
  "Returns last SSL chain expiry in timestamp",
);
const LEAF = family("probe_ssl_last_chain_info", "Contains SSL leaf certificate information");
const VERSION = family("probe_tls_version_info", "Returns the TLS version used or NaN when unknown");

/** Sets the metrics of TLS. */
export function setTlsSamples(samples: Samples, facts: TlsFacts): void {
  setHandshakeSamples(samples, facts);
  samples.set(LAST_CHAIN, facts.lastChainExpiry ?? NEVER);
}

/** Sets the metrics of TLS that the prober grpc has; null before a connection, of which only one metric has a value. */
export function setHandshakeSamples(samples: Samples, facts: TlsFacts | null): void {
  samples.set(EARLIEST, facts?.earliestExpiry ?? 0);
  if (facts === null) return;
  samples.set(VERSION, 1, { version: versionText(facts.protocol) });
  samples.set(LEAF, 1, facts.leaf);
}

/** Returns the exporter's text of a version, e.g. "TLS 1.3" for TLSv1.3. */
function versionText(protocol: string): string {
  if (protocol === "TLSv1") return "TLS 1.0";
  return protocol.startsWith("TLSv1.") ? protocol.replace("TLSv", "TLS ") : "unknown";
}
