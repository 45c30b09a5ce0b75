/** `failed` tells whether anything in the run failed, so that what helps to find out why can be kept. */
type Cleanup = (failed: boolean) => Promise<void> | void;
const cleanups: Cleanup[] = [];

/** Has something that all tests of the process share stopped when the run is over, last registered first. */
export const atEnd = (cleanup: Cleanup): void => void cleanups.push(cleanup);

/** Called by the runner. Throws AggregateError with all that went wrong, after everything had its turn. */
export const runAtEnd = async (failed: boolean): Promise<void> => {
  const errors: unknown[] = [];
  for (let cleanup = cleanups.pop(); cleanup; cleanup = cleanups.pop()) {
    try {
      await cleanup(failed);
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw new AggregateError(errors, 'stopping what the tests shared failed');
};
