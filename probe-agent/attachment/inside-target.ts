import { isIP } from "node:net";
import { NO_ALLOW_LISTS, createEgress, type AllowLists } from "#shared/internet/egress.ts";
import { createSuffixRule } from "#shared/egress/names.ts";
import { siteUrls } from "#shared/internet/target-url.ts";
import { implementationOf } from "#probe-agent/implementations.ts";
import type { Job } from "#probe-agent/run-job.ts";

const publicOnly = createEgress(NO_ALLOW_LISTS);

/**
 * Creates a test for targets that only the operator's allow lists permit. Such targets are in internal networks, which
 * work even without internet access. The test does not recognize a name that is internal only by its addresses.
 */
export function createInside(allow: AllowLists): (job: Pick<Job, "tool" | "params">) => boolean {
  const egress = createEgress(allow);
  const isListedName = createSuffixRule(allow.names);
  return ({ tool, params }) => {
    const contract = implementationOf(tool)?.contract;
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
