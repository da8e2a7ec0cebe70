import { classifyAddress } from "#shared/egress.ts";

/** Services of others on the internet, by their usual hosts; an operator's own stand-in is none. */
const OUTSIDERS = /(?:^|\.)(?:googleapis\.com|thegreenwebfoundation\.org)$/;

/**
 * Whether a service may be told of a target at these addresses: outsiders are not told of what an operator has opened
 * inside a private network, and could not reach it anyway.
 */
export function mayBeTold(serviceUrl: string, addresses: readonly string[]): boolean {
  const outside = OUTSIDERS.test(URL.parse(serviceUrl)?.hostname ?? "");
  return !outside || addresses.every((ip) => classifyAddress(ip) === "public");
}
