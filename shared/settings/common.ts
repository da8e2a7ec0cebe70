import { nameServer } from "#shared/settings/address.ts";
import { choice, list, path } from "#shared/settings/kinds.ts";
import { cidr, dnsName, url } from "#shared/settings/network.ts";
import { row } from "#shared/settings/row.ts";

const both = row("both");

/** From the fewest lines to the most. */
const LOG_LEVELS = ["fatal", "error", "warn", "info", "debug", "trace"] as const;

/** The settings that the control plane and the agents act on. */
export const COMMON_SETTINGS = {
  dataDir: both("VANTAGE_DATA_DIR", path("a directory"), {
    default: "./.vantage",
    meaning: "embedded database and generated keys; npm start and deploy/vantage take the one of the clone",
  }),
  dnsServers: both("VANTAGE_DNS_SERVERS", list(nameServer, "IP address[:port]"), {
    absent: "the system's",
    meaning: "name servers to ask",
  }),
  allowTargets: both("VANTAGE_ALLOW_TARGETS", list(cidr, "address ranges such as 10.0.0.0/8"), {
    absent: "none",
    meaning: "private ranges that may be reached, by everyone who may use the agent",
  }),
  allowNames: both("VANTAGE_ALLOW_NAMES", list(dnsName, "name suffixes such as corp.internal"), {
    absent: "none",
    meaning: "special names that may be reached, by suffix",
  }),
  contactUrl: both("VANTAGE_CONTACT_URL", url("an http, https or mailto URL", ["http:", "https:", "mailto:"]), {
    absent: "the project's",
    meaning: "whom the owners of checked sites can turn to; stands in the User-Agent",
  }),
  optOutFile: both("VANTAGE_OPT_OUT_FILE", path("a file of targets never to be reached"), {
    absent: "none",
    meaning: "targets whose owners want no checks",
  }),
  logLevel: both("VANTAGE_LOG_LEVEL", choice(...LOG_LEVELS), {
    default: "info",
    meaning: "least severe lines that are logged; info has a line per request",
  }),
};
