/** A value's type without `readonly` at any depth, as the types of results have it. */
type Plain<T> = T extends readonly (infer Item)[]
  ? Plain<Item>[]
  : T extends object
    ? { -readonly [Key in keyof T]: Plain<T[Key]> }
    : T;

/** A copy of what an analyser found, for a result. Plain data only: no functions, dates or maps. */
export function plain<T>(value: T): Plain<T> {
  return structuredClone(value) as Plain<T>;
}
