def short_name(n):
    return n[:60]


def kernel_category(n, c):
    return "other"
