import type { Network } from "#test/lab/driver.ts";

/** Result of sslscan(1) for a server. */
export interface SslScan {
  /** Supported versions, newest first, e.g. TLSv1.2. */
  readonly protocols: readonly string[];
  /** IANA numbers of the accepted suites by version, in the server's order, in lower-case hexadecimal with 0x. */
  readonly ciphers: Readonly<Record<string, readonly string[]>>;
  /** IANA numbers of the accepted groups by version. */
  readonly groups: Readonly<Record<string, readonly string[]>>;
  readonly certificate: {
    readonly signature: string | null;
    readonly keyType: string | null;
    /** Bits of an RSA key; for a curve, its strength in bits. */
    readonly keyBits: number;
    readonly curve: string | null;
    /** As displayed: DNS:one, DNS:two. */
    readonly names: string | null;
    readonly issuer: string | null;
    /** Unix seconds. */
    readonly notBefore: number;
    readonly notAfter: number;
    readonly expired: boolean;
    readonly selfSigned: boolean;
  };
  readonly xml: string;
}

/** Scans a TLS server from a node of the lab by address, with a name in SNI. */
export async function sslScan(network: Network, node: string, ip: string, name: string): Promise<SslScan> {
  const line = ["sslscan", "--no-colour", "--xml=-", "--no-heartbleed", `--sni-name=${name}`, ip];
  const { stdout, stderr } = await network.run(node, line, 30_000);
  if (!stdout.includes("<ssltest")) throw new Error(stdout + stderr);
  return read(stdout);
}

function read(xml: string): SslScan {
  const rows = (element: string): Record<string, string>[] =>
    Array.from(xml.matchAll(new RegExp(`<${element} ([^>]*)/>`, "g")), ([, attributes = ""]) =>
      Object.fromEntries(Array.from(attributes.matchAll(/(\w+)="([^"]*)"/g), ([, key, value]) => [key, value])),
    );
  const text = (element: string): string | null =>
    new RegExp(`<${element}>(?:<!\\[CDATA\\[)?([^<\\]]*)`).exec(xml)?.[1] ?? null;
  const versions = rows("protocol")
    .filter((row) => row["enabled"] === "1")
    .map(({ type, version }) => (type === "ssl" ? `SSLv${version}` : version === "1.0" ? "TLSv1" : `TLSv${version}`));
  const byVersion = (element: string): Record<string, string[]> =>
    Object.fromEntries(
      versions.map((version) => [
        version,
        rows(element)
          .filter(({ sslversion = "" }) => sslversion.replace(/^TLSv1\.0$/, "TLSv1") === version)
          .map(({ id = "" }) => id.toLowerCase()),
      ]),
    );
  const [key = {}] = rows("pk");
  return {
    protocols: versions.toReversed(),
    ciphers: byVersion("cipher"),
    groups: byVersion("group"),
    certificate: {
      signature: text("signature-algorithm"),
      keyType: key["type"] ?? null,
      keyBits: Number(key["bits"]),
      curve: key["curve_name"] ?? null,
      names: text("altnames"),
      issuer: text("issuer"),
      notBefore: Date.parse(text("not-valid-before") ?? "") / 1_000,
      notAfter: Date.parse(text("not-valid-after") ?? "") / 1_000,
      expired: text("expired") === "true",
      selfSigned: text("self-signed") === "true",
    },
    xml,
  };
}
