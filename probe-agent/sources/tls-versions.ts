import type { Outcome } from "#shared/outcome.ts";
import type { Net } from "#probe-agent/net/port.ts";
import type { TlsObservation, TlsRequest, TlsVersion } from "#probe-agent/net/port/tls.ts";

/** Which versions a server accepts; null: it could not be told. */
export interface TlsVersions {
  readonly tls1_0: boolean | null;
  readonly tls1_1: boolean | null;
  readonly tls1_2: boolean | null;
  readonly tls1_3: boolean | null;
}

/** A handshake with each version alone, all at once, but for the one that was negotiated. */
export async function askTlsVersions(
  net: Net,
  where: Pick<TlsRequest, "ip" | "port" | "servername" | "alpn" | "timeoutMs">,
  negotiated: string,
): Promise<TlsVersions> {
  const offers = async (version: TlsVersion): Promise<boolean | null> =>
    version === negotiated ||
    accepts(await net.tls.inspect({ ...where, minVersion: version, maxVersion: version }), version);
  const [tls1_0, tls1_1, tls1_2, tls1_3] = await Promise.all([
    offers("TLSv1"),
    offers("TLSv1.1"),
    offers("TLSv1.2"),
    offers("TLSv1.3"),
  ]);
  return { tls1_0, tls1_1, tls1_2, tls1_3 };
}

/** A ServerHello of the version means yes, a refusal on a standing connection no, silence and our own faults neither. */
function accepts(outcome: Outcome<TlsObservation>, version: TlsVersion): boolean | null {
  if (outcome.status === "ok") return outcome.data.serverVersion === version;
  if (outcome.status !== "failed" || outcome.stage !== "tls" || outcome.source === "probe") return null;
  return outcome.reason === "timeout" ? null : false;
}
