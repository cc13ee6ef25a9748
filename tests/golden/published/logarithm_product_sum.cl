
__kernel __attribute__((reqd_work_group_size(32, 1, 1)))
void k0_kernel_0(__global float* restrict T2_base, const ulong T2_at, __global const float* restrict I_base, const ulong I_at)
{
  __global float* restrict T2 = T2_base + T2_at;
  __global const float* restrict I = I_base + I_at;
  const int point = (int)get_global_id(0);
  if (point < 260) {
    const int i2 = point % 26;
    const int i1 = point / 26;
    const int o = (i1 * 26) + i2;
    const float I_1 = I[o];
    const float T2_1 = native_log(I_1);
    T2[o] = T2_1;
  }
}

__kernel __attribute__((reqd_work_group_size(32, 1, 1)))
void k1_kernel_1_kernel_2(__global float* restrict T3_base, const ulong T3_at, __global const float* restrict T2_base, const ulong T2_at, __global const float* restrict B_base, const ulong B_at)
{
  __global float* restrict T3 = T3_base + T3_at;
  __global const float* restrict T2 = T2_base + T2_at;
  __global const float* restrict B = B_base + B_at;
  float T0;
  __local float T2_near[26] __attribute__((aligned(64)));
  __local float B_near[26] __attribute__((aligned(64)));
  __local float T0_sum_32[32] __attribute__((aligned(64)));
  __local float T0_sum_16[16] __attribute__((aligned(64)));
  __local float T0_sum_8[8] __attribute__((aligned(64)));
  __local float T0_sum_4[4] __attribute__((aligned(64)));
  __local float T0_sum_2[2] __attribute__((aligned(64)));
  __local float T0_sum[1] __attribute__((aligned(64)));
  const int x = (int)get_group_id(0);
  const int lane = (int)get_local_id(0);
  const int o = lane + (x * 26);
  const int part = lane % 16;
  const int part_1 = lane % 8;
  const int part_2 = lane % 4;
  const int part_3 = lane % 2;
  T0 = 0.0f;
  if (lane <= 25) {
    const float value = T2[o];
    T2_near[lane] = value;
    const float value_1 = B[o];
    B_near[lane] = value_1;
    const float T2_1 = T2_near[lane];
    const float B_1 = B_near[lane];
    const float sum = T0;
    const float sum_1 = mad(T2_1, B_1, sum);
    T0 = sum_1;
  }
  const float value_2 = T0;
  T0_sum_32[lane] = value_2;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (lane <= 15) {
    const float lower = T0_sum_32[part];
    const float upper = T0_sum_32[part + 16];
    const float sum_2 = lower + upper;
    T0_sum_16[part] = sum_2;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (lane <= 7) {
    const float lower_1 = T0_sum_16[part_1];
    const float upper_1 = T0_sum_16[part_1 + 8];
    const float sum_3 = lower_1 + upper_1;
    T0_sum_8[part_1] = sum_3;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (lane <= 3) {
    const float lower_2 = T0_sum_8[part_2];
    const float upper_2 = T0_sum_8[part_2 + 4];
    const float sum_4 = lower_2 + upper_2;
    T0_sum_4[part_2] = sum_4;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (lane <= 1) {
    const float lower_3 = T0_sum_4[part_3];
    const float upper_3 = T0_sum_4[part_3 + 2];
    const float sum_5 = lower_3 + upper_3;
    T0_sum_2[part_3] = sum_5;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if ((0 <= lane) && (lane <= 0)) {
    const float lower_4 = T0_sum_2[0];
    const float upper_4 = T0_sum_2[1];
    const float sum_6 = lower_4 + upper_4;
    T0_sum[0] = sum_6;
    const float T0_2 = T0_sum[0];
    const float T3_1 = -T0_2;
    T3[x] = T3_1;
  }
}
