import { withoutTrailing } from "#shared/text/strip-trailing.ts";

/**
 * Adds a path to a provider's base address, whose query is kept. What the base already has of it, the whole or its first
 * segments, is not added again.
 */
export function addPath(base: string, path: string): string {
  const url = new URL(base);
  const folder = withoutTrailing(url.pathname, (character) => character === "/");
  const segments = path.split("/");
  const beginnings = segments.map((_, index) => segments.slice(0, segments.length - index).join("/"));
  const present = beginnings.find((beginning) => folder.endsWith(beginning)) ?? "";
  url.pathname = `${folder}${path.slice(present.length)}`;
  url.hash = "";
  return url.href;
}

/** Adds the path of a provider's only endpoint to an address that names a host alone. Others are kept as written. */
export function completeHost(address: string, path: string): string {
  return new URL(address).pathname === "/" ? addPath(address, path) : address;
}

/** Sets one parameter of the query of an address, whose others are kept. */
export function setParameter(address: string, name: string, value: string): string {
  const url = new URL(address);
  url.searchParams.set(name, value);
  return url.href;
}

/** Writes an address so that it can be the address of a link in Markdown, which a bracket would end. */
export function encodeBrackets(address: string): string {
  return address.replaceAll("(", "%28").replaceAll(")", "%29");
}
