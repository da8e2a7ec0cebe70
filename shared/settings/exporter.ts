import { listenAddress, type Address } from "#shared/settings/address.ts";
import type { Kind } from "#shared/settings/kind.ts";
import { duration, integer, list, path, text } from "#shared/settings/kinds.ts";
import { cidr, httpUrl } from "#shared/settings/network.ts";
import { row } from "#shared/settings/row.ts";

const agent = row("agent");

/** A listening address; ":9115" is every address of the host, as in blackbox_exporter. */
const anyListenAddress: Kind<Address> = {
  allowed: "host:port, [IPv6]:port or :port",
  parse: (value) => listenAddress.parse(value.startsWith(":") ? `[::]${value}` : value),
};

/** Settings of the exporter, which agents serve and `vantage exporter` serves alone. */
export const EXPORTER_SETTINGS = {
  exporter: agent("VANTAGE_EXPORTER", list(anyListenAddress, anyListenAddress.allowed), {
    absent: "none; 127.0.0.1:9115 for the command exporter",
    meaning: "listeners of the blackbox exporter for Prometheus",
  }),
  exporterConfigFile: agent("VANTAGE_EXPORTER_CONFIG_FILE", path("a blackbox.yml"), {
    absent: "built-in modules",
    meaning: "modules of the exporter",
  }),
  exporterWebConfigFile: agent("VANTAGE_EXPORTER_WEB_CONFIG_FILE", path("a web configuration file"), {
    absent: "none: no TLS, no password",
    meaning: "TLS and users of the exporter's listeners, in the form of Prometheus' exporters",
  }),
  exporterAllowTargets: agent("VANTAGE_EXPORTER_ALLOW_TARGETS", list(cidr, "address ranges such as 10.0.0.0/8"), {
    absent: "every target where all listeners are loopback, else the public internet",
    meaning: "targets of the exporter beyond the public internet",
  }),
  exporterExternalUrl: agent("VANTAGE_EXPORTER_EXTERNAL_URL", httpUrl, {
    absent: "none",
    meaning: "URL of the exporter for browsers; its path is the prefix of all paths",
  }),
  exporterRoutePrefix: agent("VANTAGE_EXPORTER_ROUTE_PREFIX", text("a path such as /blackbox", /^\/[\w./-]{0,200}$/), {
    absent: "path of VANTAGE_EXPORTER_EXTERNAL_URL",
    meaning: "prefix of the exporter's paths",
  }),
  exporterTimeoutOffset: agent("VANTAGE_EXPORTER_TIMEOUT_OFFSET", duration(0, 60_000, "at most 1m"), {
    default: "0.5s",
    meaning: "time between the end of a probe and Prometheus' own timeout",
  }),
  exporterHistoryLimit: agent("VANTAGE_EXPORTER_HISTORY_LIMIT", integer(0, 10_000), {
    default: "100",
    meaning: "recent probes that the exporter's page lists",
  }),
};
