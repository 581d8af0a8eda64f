/** The version of this product, as package.json has it. */
import manifest from '../package.json' with { type: 'json' };

export const VERSION = manifest.version;
