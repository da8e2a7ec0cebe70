import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import type { Environment } from "#shared/settings/settings-parse.ts";

/** Variables that name proxies, and hosts that are asked without one. */
const VARIABLES = /^(?:https?_proxy|no_proxy)$/i;

let proxyEnv: Record<string, string> | undefined;

/** Sends the requests of this process through the proxies of HTTP_PROXY, HTTPS_PROXY and NO_PROXY. */
export function useProxies(environment: Environment): void {
  const named = Object.entries(environment).filter(([name]) => VARIABLES.test(name));
  proxyEnv = Object.fromEntries(named.map(([name, value = ""]) => [name, value]));
}

/** Returns a new agent for one request; false: as Node would by itself. This machine is always asked without a proxy. */
export function agentFor(url: string): HttpAgent | false {
  const { protocol, hostname } = new URL(url);
  if (proxyEnv === undefined || isThisMachine(hostname)) return false;
  return protocol === "https:" ? new HttpsAgent({ proxyEnv }) : new HttpAgent({ proxyEnv });
}

function isThisMachine(hostname: string): boolean {
  return /^(?:localhost|.*\.localhost|127\.[0-9.]+|\[::1\])$/.test(hostname);
}
