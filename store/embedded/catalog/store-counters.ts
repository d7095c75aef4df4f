/** Events that were taken in but are not stored, counted over the life of the data folder. */
export interface StoreCounters {
  expiredEvents: number;
  duplicateEvents: number;
}
