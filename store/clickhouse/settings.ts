/** Settings that every statement of the program is sent with. */
export const STATEMENT_SETTINGS: Readonly<Record<string, string | number>> = {
  // Missing values as SQL has them: a cast, an outer join and a grouping set keep and make NULL.
  cast_keep_nullable: 1,
  join_use_nulls: 1,
  group_by_use_nulls: 1,
  transform_null_in: 0,
  // A name means the column also where an expression of the SELECT list has the same name.
  prefer_column_name_to_alias: 1,
  output_format_json_quote_64bit_integers: 1,
  output_format_json_escape_forward_slashes: 0,
  async_insert: 0,
  // Of copies the first wins before a condition is tried on it, so that a later copy never matches in its place.
  optimize_move_to_prewhere_if_final: 0,
  // Except for conditions on the sequence, which say what a statement sees.
  apply_prewhere_after_final: 0,
};

/** For statements whose rows before the limit are counted. */
export const WITH_TOTAL = { exact_rows_before_limit: 1 } as const;
