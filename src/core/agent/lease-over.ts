/**
 * The reason with which the work for a lease is aborted. One for all: `abort()` without a reason makes an error with a stack each time,
 * 60 us, and a caller waits for the end of its lease.
 */
export const leaseIsOver = new Error("the lease is over");
