import { isIP } from "node:net";
import { NO_ALLOW_LISTS, createEgress, type AllowLists } from "#shared/egress.ts";
import { createSuffixRule } from "#shared/egress/names.ts";
import { siteUrls } from "#shared/target-url.ts";
import type { Job } from "#probe-agent/run-job.ts";
import { implementations } from "#probe-agent/tools/index.ts";

const publicOnly = createEgress(NO_ALLOW_LISTS);

/**
 * Tells the targets that are allowed by the operator's lists alone: networks of the inside, which are there also when
 * the way out is not. A name that only its addresses make an inside one is not known as such.
 */
export function createInside(allow: AllowLists): (job: Pick<Job, "tool" | "params">) => boolean {
  const egress = createEgress(allow);
  const isListedName = createSuffixRule(allow.names);
  return ({ tool, params }) => {
    const contract = implementations.get(tool)?.contract;
    if (contract === undefined || contract.target === null) return false;
    const { param, kind } = contract.target;
    const target = (JSON.parse(params) as Readonly<Record<string, unknown>>)[param];
    if (typeof target !== "string") return false;
    const host = kind === "url" || kind === "site" ? hostOf(siteUrls(target)[0]) : target;
    if (isIP(host) !== 0) return egress.allowsAddress(host) && !publicOnly.allowsAddress(host);
    return isListedName(host.toLowerCase().replace(/\.$/, ""));
  };
}

function hostOf(url: string): string {
  return URL.parse(url)?.hostname.replace(/^\[|\]$/g, "") ?? "";
}
