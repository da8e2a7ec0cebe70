import { X509Certificate, createPrivateKey } from "node:crypto";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { callService } from "#shared/client/call.ts";
import { fail, ok, warn, type Finding, type Patient } from "#shared/client/doctor/finding.ts";
import { checkListener } from "#shared/client/up/ports.ts";
import type { Settings } from "#shared/settings.ts";
import { formatAddress, isLoopback, listenerUrl } from "#shared/settings/address.ts";

const SOON_DAYS = 14;
const DAY_MS = 86_400_000;

/** Whether a control plane answers at the HTTP address of these settings. */
export async function isRunningHere(settings: Settings): Promise<boolean> {
  const own = listenerUrl(settings.httpAddr, settings.tlsCert !== null);
  const health = await callService(`${own}/healthz`, { own: true, timeoutMs: 2_000 }).catch(() => null);
  return health?.status === 200;
}

/** Whether the listeners can be opened, or are Vantage's own already. */
export async function checkPorts({ settings }: Patient): Promise<Finding[]> {
  if (await isRunningHere(settings)) {
    return [ok("ports", `a control plane answers at ${listenerUrl(settings.httpAddr, settings.tlsCert !== null)}`)];
  }
  const findings: Finding[] = [];
  for (const [name, address, movable] of [
    ["VANTAGE_HTTP_ADDR", settings.httpAddr, false],
    ["VANTAGE_GRPC_ADDR", settings.grpcAddr, false],
    ["VANTAGE_METRICS_ADDR", settings.metricsAddr, true],
    ["VANTAGE_AGENT_METRICS_ADDR", settings.agentMetricsAddr, true],
  ] as const) {
    if (address === "off") continue;
    const free = await checkListener(name, address);
    if (free.ok) continue;
    findings.push(
      movable
        ? warn("ports", free.line, "a default one gives way to a free port")
        : fail("ports", free.line, `set ${name}`),
    );
  }
  return findings.length > 0
    ? findings
    : [ok("ports", `${formatAddress(settings.httpAddr)} and ${formatAddress(settings.grpcAddr)} are free`)];
}

/** Whether callers of the API are protected: TLS here, a proxy in front, or nobody but this machine. */
export function checkTransport(patient: Patient): Finding {
  const { settings } = patient;
  if (settings.tlsCert !== null && settings.tlsKey !== null)
    return checkCertificate(patient, settings.tlsCert, settings.tlsKey);
  const https = settings.baseUrl?.startsWith("https:") === true;
  if (https && settings.trustedProxies === null) {
    return warn(
      "tls",
      "a proxy seems to be in front, and every caller will look like it",
      "name it in VANTAGE_TRUSTED_PROXIES",
    );
  }
  if (https) return ok("tls", "by the proxy in front");
  if (isLoopback(settings.httpAddr.host)) return ok("tls", "not needed: the API listens on this machine only");
  return warn(
    "tls",
    `the API listens on ${formatAddress(settings.httpAddr)} without TLS: keys travel in clear`,
    "set VANTAGE_TLS_CERT and VANTAGE_TLS_KEY, or put a proxy in front",
  );
}

function checkCertificate({ directory, now }: Patient, certFile: string, keyFile: string): Finding {
  try {
    const certificate = new X509Certificate(readFileSync(resolve(directory, certFile)));
    if (!certificate.checkPrivateKey(createPrivateKey(readFileSync(resolve(directory, keyFile)))))
      return fail("tls", "VANTAGE_TLS_KEY is not the key of VANTAGE_TLS_CERT", "give the pair that belongs together");
    const days = Math.floor((certificate.validToDate.getTime() - now().getTime()) / DAY_MS);
    if (days < 0) return fail("tls", "the certificate has expired", "renew it");
    if (days < SOON_DAYS) return warn("tls", `the certificate expires in ${days} days`, "renew it");
    return ok("tls", `certificate good for ${days} days`);
  } catch (error) {
    const reason = error instanceof Error ? error.message.split("\n")[0] : String(error);
    return fail(
      "tls",
      `VANTAGE_TLS_CERT or VANTAGE_TLS_KEY cannot be used (${reason})`,
      "give PEM files this user can read",
    );
  }
}
