// @ts-expect-error: the missing file is the point
import './no-such-file.ts';

it('never gets here', () => {});
