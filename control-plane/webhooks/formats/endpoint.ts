import { withoutTrailing } from "#shared/strip-trailing.ts";

/** Adds a path to a provider's base address, whose query is kept. A base that ends with the path gets no second one. */
export function addPath(base: string, path: string): string {
  const url = new URL(base);
  const folder = withoutTrailing(url.pathname, (character) => character === "/");
  url.pathname = folder.endsWith(path) ? folder : `${folder}${path}`;
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
