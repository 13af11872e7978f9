import { z } from "zod";

/** A moment in a query. */
export const TimeInQuery = z.iso.datetime({
  offset: true,
  error: "must be a time of RFC 3339, such as 2030-01-01T00:00:00Z",
});
