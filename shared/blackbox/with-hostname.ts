import type { Module } from "#shared/blackbox/module.ts";

/** Returns the module with the query's hostname: Host of http, the name in TLS of tcp; or why they contradict. */
export function withHostname(module: Module, hostname: string): Module | string {
  if (hostname === "") return module;
  if (!/^[^\s\p{Cc}/]{1,300}$/u.test(hostname)) return "The hostname parameter is no host name";
  if (module.prober === "http") {
    const { headers } = module.options;
    const given = Object.entries(headers).find(([name]) => name.toLowerCase() === "host");
    if (given !== undefined && given[1] !== hostname) {
      return `host header defined both in module configuration (${given[1]}) and with URL-parameter 'hostname' (${hostname})`;
    }
    const others = Object.entries(headers).filter(([name]) => name.toLowerCase() !== "host");
    return { ...module, options: { ...module.options, headers: { ...Object.fromEntries(others), Host: hostname } } };
  }
  if (module.prober === "tcp" && module.options.tls_config.server_name === "") {
    const { options } = module;
    return { ...module, options: { ...options, tls_config: { ...options.tls_config, server_name: hostname } } };
  }
  return module;
}
