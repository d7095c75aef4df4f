/** Pragmas that tell something of what their argument names. */
const TELL_OF_ARGUMENT: ReadonlySet<string> = new Set([
  'foreign_key_check',
  'foreign_key_list',
  'index_info',
  'index_list',
  'index_xinfo',
  'integrity_check',
  'quick_check',
  'table_info',
  'table_list',
  'table_xinfo',
]);

/** Pragmas that tell something when they have no argument. `database_list` is missing: it tells where DATA_DIR is. */
const TELL: ReadonlySet<string> = new Set([
  ...TELL_OF_ARGUMENT,
  'analysis_limit',
  'application_id',
  'auto_vacuum',
  'automatic_index',
  'busy_timeout',
  'cache_size',
  'collation_list',
  'compile_options',
  'data_version',
  'defer_foreign_keys',
  'encoding',
  'foreign_keys',
  'freelist_count',
  'function_list',
  'ignore_check_constraints',
  'journal_mode',
  'legacy_alter_table',
  'max_page_count',
  'module_list',
  'page_count',
  'page_size',
  'pragma_list',
  'query_only',
  'recursive_triggers',
  'reverse_unordered_selects',
  'schema_version',
  'secure_delete',
  'synchronous',
  'user_version',
]);

/** Pragmas that change the database or the stream's own connection, and nothing else. */
const CHANGE: ReadonlySet<string> = new Set([
  'analysis_limit',
  'application_id',
  'auto_vacuum',
  'automatic_index',
  'case_sensitive_like',
  'defer_foreign_keys',
  'foreign_keys',
  'ignore_check_constraints',
  'incremental_vacuum',
  'legacy_alter_table',
  'optimize',
  'query_only',
  'recursive_triggers',
  'reverse_unordered_selects',
  'secure_delete',
  'user_version',
]);

/**
 * What a pragma does: it only tells; it changes the database or its connection; or it is for nobody, because it reaches files, memory or
 * locks of the whole program, or undoes what makes a commit last. What is not known is for nobody.
 */
export function pragmaEffect(name: string, argument: string | null): 'tells' | 'changes' | 'outside' {
  const pragma = name.toLowerCase();
  if (argument === null ? TELL.has(pragma) : TELL_OF_ARGUMENT.has(pragma)) return 'tells';
  return CHANGE.has(pragma) ? 'changes' : 'outside';
}
