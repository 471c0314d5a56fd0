"""Keys to measure with, and for nothing else: both primes are public, so they protect nothing.

To make a key of 3072 bits takes longer than everything that is measured with it.
"""

from random import Random

from gmpy2 import mpz

from fedperm_secret.schemes.paillier.keys import SecretKey, generate_key

_SAFE_PRIMES = {
    2048: (
        "e780699c3c28b18b87a9e9ebed100ad36835abf530f385e2383c81c3569995cd199f25942db3d9d46908"
        "5abea4cdedff1e37ab655b1b6105d92c6ff9eea75cac9ba8c7b29d186e5858b7c382cae020ed6ee50f46"
        "a2b25d27e0ad6ca077830fe4eae44b4919764a9b4a149f03af791a63ffa93bd4b1d8bd507155c6f7787e"
        "ab53",
        "d1f575015263445555934121be5afab728e8df5d4909899c999c9ce451609ab5f1d7f3c8790047ed48d7"
        "ec3d6af2746301c29df2dba45cb30d19b7bc2a24d40e5f89702591f66b5000adc0f986bfaf82ff8e1232"
        "888b7b3ea5e6ad2c514be6dabd153c13cff24d0b55069eac88b7f4373f4d0dd9f51b805ccb728f93232b"
        "8863",
    ),
    3072: (
        "eb1286fb1346f0fe9c84ea155685b41b673d8f57ee08742e856a53ba8f4055e9669f3b6c0cd36089a252"
        "3fe4e99926b87db4cb29a6fd0e06e564b713f8a2bf0ce506ce53be89d42fa791ed374b8943130bd8090b"
        "053a04e6c2946dcc1e8baac2b53b9fa718efe893fa6ae9e7bc85f1514d3c3be37332691bab6cad56296c"
        "6b467dd2524683348125d63c2e299fe72c9b700673e59aaad744b61f021824bdbf71547d57e08a4b19c9"
        "c1928e63345bf015261fdcb7427ff1df2018b09a55d804df",
        "de6a508444ffb59cd40d4b04abc6a0ebb86896bdbeba5135d5971380eb004b8d4fd062cc1169d4af2008"
        "eb4fa6d56b76df9c31b54526d28626d27f9f64622781870f896ef04174558807e85bd9a7988f50a8a327"
        "f18a17fac2fdca6aa676ff0d5fb3a6d67dd3452d457c3589a963f5cc33c2ec7b4e152372bc98eb5681d5"
        "dddf6f64056949b56110ac08e634a407b5124702c89409bbf31da469054db384cfe10f170cd1061a17f0"
        "89b7a3d8e65ab35fa34467c670df260f214d6177ed81b967",
    ),
    4096: (
        "cdff57140f441e5adcf50faf4b300536997a1a2430d06d551f4d16847f63cead252719bf08d218274add"
        "a214c63eb3866b8e8b0cdc83bd605773ab9e40f3af750bad4e53ec5a83b2e73b3cc60bea887f01844d92"
        "d5874b0ccc25a9a1726a408515742348e1059804d5919273c057fbde605c5420072d9d46d41122a44f9a"
        "39919775636ccd35fdd51d5681f24560c11eaa1e7a5add8988ba7e9715b1c938670a7ba1d8302ecc915c"
        "5e43d11e5a6e145b24ab98f51a430de159bdcd2746f29f87e129414b27dc649d5f47f0a85a3c52397c8d"
        "9b858388e7b82faf19b68a640315d8768d9f212ab850b8681c8e515434f4f32f04838037e7f4deded1ea"
        "af7b674b",
        "f692ea4272dc67e4df0716bfee6c8b46adf698cca029f689143f14f860d887c9a0834a4a7f781be954cd"
        "83dba848e1c7cddfca5d068e7059fcc1631af37a30c581b91d0a406f70b16dca0758c505bd0eeaf9484c"
        "77f15522afb87056dfdc05be1b6511159c5c4b806bb03ddc97ac7ccdcd4a09d74b9f95198be25d95140d"
        "17cc15e7fb1e16143eb0e8048dbc4f50e8330e93e3d6ce089d1225e54e38ce9041e88cff17f420ea5a68"
        "41e7185033276305d21aa21b363869f10372c2ae648d94c520ca85397621ef2e2325470fd0158286e910"
        "56a85d80f0a916f6bc56e75253d9be5b85f526202d0717009b2d2a80b72673f6f4c63dcf97c6a5b79159"
        "0f48ae2b",
    ),
}


def measuring_key(key_bits: int, randomness: Random, *, insecure_for_tests: bool) -> SecretKey:
    """Short keys, which only tests use, are quickly drawn."""
    if key_bits in _SAFE_PRIMES:
        p, q = (mpz(int(prime, 16)) for prime in _SAFE_PRIMES[key_bits])
        return SecretKey(p, q)
    return generate_key(randomness, key_bits, insecure_for_tests=insecure_for_tests)
