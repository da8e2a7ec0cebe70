/** A type without `readonly` at any depth, like the types of results. */
type Plain<T> = T extends readonly (infer Item)[]
  ? Plain<Item>[]
  : T extends object
    ? { -readonly [Key in keyof T]: Plain<T[Key]> }
    : T;

/** Returns a mutable copy of an analysis for a result. Accepts only plain data, without functions, dates and maps. */
export function plain<T>(value: T): Plain<T> {
  return structuredClone(value) as Plain<T>;
}
