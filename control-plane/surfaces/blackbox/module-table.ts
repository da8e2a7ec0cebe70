import { icmp, tcpConnect, tlsConnect } from "#control-plane/surfaces/blackbox/connection-modules.ts";
import { dnsModule } from "#control-plane/surfaces/blackbox/dns-modules.ts";
import { httpModule } from "#control-plane/surfaces/blackbox/http-modules.ts";
import type { Module } from "#control-plane/surfaces/blackbox/module.ts";

/** Every module of GET /api/v4/probe, named as in the exporter's example configuration. */
export const MODULES: ReadonlyMap<string, Module> = new Map(
  [
    httpModule("http_2xx", "GET"),
    httpModule("http_post_2xx", "POST"),
    tcpConnect,
    tlsConnect,
    icmp,
    dnsModule("dns_udp", "udp"),
    dnsModule("dns_tcp", "tcp"),
    // The exporter has no encrypted DNS; the metrics are the same as for dns_udp.
    dnsModule("dns_dot", "dot"),
    dnsModule("dns_doh", "doh"),
  ].map((module) => [module.name, module]),
);

/** Default module, as in the exporter. */
export const DEFAULT_MODULE = "http_2xx";
