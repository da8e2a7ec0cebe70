import { classifyAddress } from "#shared/internet/egress.ts";

/** Hosts of third-party services on the internet. An operator's own service in their place is not one of them. */
const OUTSIDERS = /(?:^|\.)(?:googleapis\.com|thegreenwebfoundation\.org)$/;

/**
 * Reports whether a service may learn about a target with these addresses. Third parties do not learn about hosts that
 * an operator has opened inside a private network. They could not reach them anyway.
 */
export function mayReceiveTarget(serviceUrl: string, addresses: readonly string[]): boolean {
  const outside = OUTSIDERS.test(URL.parse(serviceUrl)?.hostname ?? "");
  return !outside || addresses.every((ip) => classifyAddress(ip) === "public");
}
