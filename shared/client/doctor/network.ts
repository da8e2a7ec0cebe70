import { X509Certificate, createPrivateKey } from "node:crypto";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { callService } from "#shared/client/call.ts";
import { fail, ok, warn, type Finding, type Patient } from "#shared/client/doctor/finding.ts";
import { checkListener } from "#shared/client/up/ports.ts";
import type { Settings } from "#shared/settings/settings.ts";
import { formatAddress, isLoopback, listenerUrl } from "#shared/settings/address.ts";

const SOON_DAYS = 14;
const DAY_MS = 86_400_000;

/** Reports whether a control plane answers at the HTTP address of these settings. */
export async function isRunningHere(settings: Settings): Promise<boolean> {
  const own = listenerUrl(settings.httpAddr, settings.tlsCert !== null);
  const health = await callService(`${own}/healthz`, { own: true, timeoutMs: 2_000 }).catch(() => null);
  return health?.status === 200;
}

/** Checks that the listeners can be opened, or are already open by Vantage itself. */
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
        ? warn("ports", free.line, `set ${name}, or leave it unset: Vantage then uses a free port`)
        : fail("ports", free.line, `set ${name}`),
    );
  }
  return findings.length > 0
    ? findings
    : [ok("ports", `${formatAddress(settings.httpAddr)} and ${formatAddress(settings.grpcAddr)} are free`)];
}

/** Checks the protection of API traffic: TLS here, a TLS proxy in front, or a loopback listener. */
export function checkTransport(patient: Patient): Finding {
  const { settings } = patient;
  if (settings.tlsCert !== null && settings.tlsKey !== null)
    return checkCertificate(patient, settings.tlsCert, settings.tlsKey);
  const https = settings.baseUrl?.startsWith("https:") === true;
  if (https && settings.trustedProxies === null) {
    return warn(
      "tls",
      "VANTAGE_BASE_URL is https, so a proxy terminates TLS: all callers appear with the proxy's address",
      "set VANTAGE_TRUSTED_PROXIES to the proxy's address",
    );
  }
  if (https) return ok("tls", "terminated by a proxy");
  if (isLoopback(settings.httpAddr.host)) return ok("tls", "not needed: the API listens on this machine only");
  return warn(
    "tls",
    `the API listens on ${formatAddress(settings.httpAddr)} without TLS: API keys are sent in clear text`,
    "set VANTAGE_TLS_CERT and VANTAGE_TLS_KEY, or put a TLS proxy in front",
  );
}

function checkCertificate({ directory, now }: Patient, certFile: string, keyFile: string): Finding {
  try {
    const certificate = new X509Certificate(readFileSync(resolve(directory, certFile)));
    if (!certificate.checkPrivateKey(createPrivateKey(readFileSync(resolve(directory, keyFile)))))
      return fail("tls", "VANTAGE_TLS_KEY does not match VANTAGE_TLS_CERT", "set both to a matching pair");
    const days = Math.floor((certificate.validToDate.getTime() - now().getTime()) / DAY_MS);
    if (days < 0) return fail("tls", "the certificate has expired", "renew it");
    if (days < SOON_DAYS) return warn("tls", `the certificate expires in ${days} days`, "renew it");
    return ok("tls", `certificate valid for ${days} days`);
  } catch (error) {
    const reason = error instanceof Error ? error.message.split("\n")[0] : String(error);
    return fail(
      "tls",
      `VANTAGE_TLS_CERT or VANTAGE_TLS_KEY cannot be used (${reason})`,
      "set both to PEM files that this user can read",
    );
  }
}
